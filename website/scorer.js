// How the site's search sorts: a heading that has the words as they were typed comes first, and guides before rules.
var Scorer = {
  score: ([page, , , , score, , kind]) => score + (kind === "title" ? 20 : 0) + (/^(how-to|tutorial)/.test(page) ? 1 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

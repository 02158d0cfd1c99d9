// How the site's search sorts. What a person wants to do comes before what explains it, and both before rules, programs
// and examples; a page whose title has the words that were typed comes before one that only has them.
const KINDS = [[/^how-to\//, 20], [/^tutorial$/, 6], [/^(rules|knobs)/, -5], [/^(interface|examples|changelog|releasing|design)/, -15], [/^[^/]+$/, 4]];
const typed = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter((word) => word.length > 2);

var Scorer = {
  score: ([page, title, , , score, , kind]) => {
    const words = title.toLowerCase().split(/[^\p{L}\p{N}_]+/u);
    const had = typed.filter((word) => words.some((each) => each.startsWith(word))).length / (typed.length || 1);
    const isSection = kind === "title" && !/^(cli|interface|rules)\//.test(page);
    return score + 10 * had + (kind === "text" && had === 1 ? 10 : 0) + (isSection ? 12 : 0) + (KINDS.find(([name]) => name.test(page))?.[1] ?? 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

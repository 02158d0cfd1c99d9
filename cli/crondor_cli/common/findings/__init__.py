"""Findings on the screen: text, JSON, GitHub, SARIF, and the rules behind them."""

"""The use cases: plan, dispatch, execute, write back, sweep, score, publish. They speak to ports only."""

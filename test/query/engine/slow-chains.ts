import { BREAKS } from "../../../src/query/funnel/chain.ts"

export interface MarkedEvent {
  at: number
  marks: number
}
export interface Rules {
  steps: number
  strict: boolean
  windowMs: number
}

/** Yields all chains of the given length, the earliest first. A reference for the fast implementation, written for readability. */
function* chainsOf(
  events: readonly MarkedEvent[],
  rules: Rules,
  length: number,
  chain: readonly number[] = [],
): Generator<readonly number[]> {
  if (chain.length === length) {
    yield chain
    return
  }
  const last = chain.at(-1)
  for (let i = last === undefined ? 0 : last + 1; i < events.length; i++) {
    const event = events[i]!
    if ((event.marks & (1 << chain.length)) !== 0 && event.at - events[chain[0] ?? i]!.at <= rules.windowMs) {
      yield* chainsOf(events, rules, length, [...chain, i])
    }
    if (rules.strict && last !== undefined && (event.marks & BREAKS) !== 0) return
  }
}

/** Returns the number of steps reached and the times of the earliest chain that reaches them. */
export function slowly(events: readonly MarkedEvent[], rules: Rules) {
  for (let length = rules.steps; length > 0; length--) {
    const [chain] = chainsOf(events, rules, length)
    if (chain) return { reached: length, times: chain.map((i) => events[i]!.at) }
  }
  return { reached: 0, times: [] }
}

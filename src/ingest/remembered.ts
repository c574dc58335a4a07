/** Longer texts are no value that comes again: kept, they would let anybody fill the memory. */
const LONGEST = 512

/**
 * The same function, with its latest answers kept by text. Only for texts that may stay in memory: never for an address or
 * an id of a visitor.
 *
 * Two generations instead of an order of use: a hit costs one look-up, and what is asked for again outlives the turn.
 */
export function remembered<Answer>(most: number, compute: (text: string) => Answer): (text: string) => Answer {
  let young = new Map<string, Answer>()
  let old = new Map<string, Answer>()
  return (text) => {
    if (text.length > LONGEST) return compute(text)
    const found = young.get(text)
    if (found !== undefined) return found
    const answer = old.get(text) ?? compute(text)
    if (young.size >= most / 2) {
      old = young
      young = new Map()
    }
    young.set(text, answer)
    return answer
  }
}

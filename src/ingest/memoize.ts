/** Longer texts are not cached: they rarely repeat and would let a client fill the memory. */
const MAX_CHARS = 512

/**
 * Memoizes a function of a text for its latest `max` arguments. Only for texts that may stay in memory, never for an address or the
 * id of a visitor.
 *
 * Two generations instead of a least-recently-used order: a hit costs one look-up, and repeated texts survive the change of
 * generations.
 */
export function memoize<Answer>(max: number, compute: (text: string) => Answer): (text: string) => Answer {
  let young = new Map<string, Answer>()
  let old = new Map<string, Answer>()
  let [lastText, lastAnswer] = ["", undefined as Answer | undefined]
  return (text) => {
    // Often the same text follows. Comparing it is cheaper than a look-up, for which a new string has to be hashed.
    if (text === lastText && lastAnswer !== undefined) return lastAnswer
    if (text.length > MAX_CHARS) return compute(text)
    lastText = text
    lastAnswer = young.get(text)
    if (lastAnswer !== undefined) return lastAnswer
    const answer = old.get(text) ?? compute(text)
    lastAnswer = answer
    if (young.size >= max / 2) {
      old = young
      young = new Map()
    }
    young.set(text, answer)
    return answer
  }
}

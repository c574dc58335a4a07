/**
 * The same function, with its last answers kept by text. Only for texts that may stay in memory: never for an address or
 * an id of a visitor.
 */
export function remembered<Answer>(most: number, compute: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, Answer>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) {
      touch(known, text, found)
      return found
    }
    const answer = compute(text)
    known.set(text, answer)
    if (known.size > most) known.delete(known.keys().next().value!)
    return answer
  }
}

// A Map keeps the order of insertion: put back, the entry is the youngest again.
function touch<Answer>(known: Map<string, Answer>, text: string, answer: Answer): void {
  known.delete(text)
  known.set(text, answer)
}

/**
 * Matches a whole text against a pattern in which `*` stands for any run of characters, empty and `/` included, and
 * everything else for itself (metrics.md section 10). The pieces between the stars are found from left to right, each at
 * its first place, so a text is read once however many stars there are. Bounds on length and stars are the parsers'.
 */
export function wildcardMatcher(pattern: string): (text: string) => boolean {
  const pieces = pattern.split("*")
  const head = pieces[0] ?? ""
  if (pieces.length === 1) return (text) => text === head
  const tail = pieces[pieces.length - 1] ?? ""
  const middle = pieces.slice(1, -1).filter((piece) => piece !== "")
  return (text) => matches(text, head, middle, tail)
}

function matches(text: string, head: string, middle: readonly string[], tail: string): boolean {
  const end = text.length - tail.length
  if (end < head.length || !text.startsWith(head) || !text.endsWith(tail)) return false
  let at = head.length
  for (const piece of middle) {
    const found = text.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= end
}

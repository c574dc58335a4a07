const ID = /^[1-9][0-9]{0,15}$/

/** The number that a path names; undefined for what is no id, which a caller treats as an id that nobody has. */
export function parseId(named: string | number | undefined): number | undefined {
  const text = String(named)
  if (!ID.test(text)) return undefined
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : undefined
}

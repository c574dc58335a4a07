const ID = /^[1-9][0-9]{0,15}$/

/** Parses the id in a path. Returns undefined for anything else, which callers treat like an unknown id. */
export function parseId(named: string | number | undefined): number | undefined {
  const text = String(named)
  if (!ID.test(text)) return undefined
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : undefined
}

/** Bytes that are parsed at a time, which takes about 2 ms. */
const PIECE_BYTES = 256 << 10
const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST, COMMA] = [...'"\\{}[],'].map((one) => one.charCodeAt(0))

/**
 * Parses an object with a long list, in pieces between which the thread serves requests: 25,000 rows are some megabytes. Returns what
 * `JSON.parse` returns, or undefined if it throws.
 */
export async function parseLargeJson(bytes: Uint8Array, list: string): Promise<unknown> {
  try {
    return bytes.length > PIECE_BYTES && /^\s*\{/.test(textOf(bytes.subarray(0, 100))) ? await parsePieces(bytes, list) : parse(bytes)
  } catch (error) {
    // Invalid JSON, invalid UTF-8, or too many lists within lists.
    if (error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError) return undefined
    throw error
  }
}

const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const parse = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))

async function parsePieces(bytes: Uint8Array, name: string): Promise<unknown> {
  const key = JSON.stringify(name)
  const rows: unknown[] = []
  /** The list, and the start of the rows that were not parsed yet. */
  const list = { from: -1, to: -1, next: -1 }
  let depth = 0
  let isInText = false
  let textStart = 0
  let isKey = false
  let yieldedAt = 0
  for (let at = 0; at < bytes.length && list.to === -1; at++) {
    const byte = bytes[at]
    if (isInText) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) {
        isInText = false
        if (depth === 1) isKey = at + 1 - textStart === key.length && textOf(bytes.subarray(textStart, at + 1)) === key
      }
    } else if (byte === QUOTE) {
      isInText = true
      textStart = at
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth++
      if (depth === 2 && byte === OPEN_LIST && isKey) list.from = list.next = at + 1
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--
      if (depth === 1 && list.from !== -1) list.to = at
    } else if (byte === COMMA && depth === 2 && list.from !== -1 && at - list.next >= PIECE_BYTES) {
      rows.push(...rowsIn(bytes.subarray(list.next, at)))
      list.next = at + 1
    }
    if (at - yieldedAt >= PIECE_BYTES) {
      yieldedAt = at
      await Bun.sleep(0)
    }
  }
  if (list.to === -1) return parse(bytes)
  const rest = bytes.subarray(list.next, list.to)
  // Only a list with one piece can be empty.
  rows.push(...(rows.length > 0 ? rowsIn(rest) : parseList(rest)))
  const others = parse(Buffer.concat([bytes.subarray(0, list.from), bytes.subarray(list.to)])) as object // it begins with a brace
  return { ...others, [name]: rows }
}

const [OPEN, CLOSE] = [Buffer.from("["), Buffer.from("]")]

const parseList = (bytes: Uint8Array): unknown[] => parse(Buffer.concat([OPEN, bytes, CLOSE])) as unknown[] // its brackets make it one

/** Parses some rows of a list, at least one. */
function rowsIn(bytes: Uint8Array): unknown[] {
  const rows = parseList(bytes)
  if (rows.length === 0) throw new SyntaxError("A row is missing")
  return rows
}

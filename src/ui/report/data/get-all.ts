import { get } from "../../api/api.ts"

const A_PAGE = 200

/** Fetches all pages of a list. `path` must end in `?` or `&`. */
export async function getAll<Thing>(path: string, signal: AbortSignal): Promise<Thing[]> {
  const all: Thing[] = []
  let cursor: string | null = null
  do {
    const page: { data: Thing[]; next_cursor: string | null } = await get(
      `${path}limit=${A_PAGE}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
      signal,
    )
    all.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return all
}

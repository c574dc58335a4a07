/** Paged lists whose filters are stored in the URL. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { useLocation, useSearch } from "wouter"
import { get } from "./api.ts"

/** One page of a list. */
export interface Listed<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
  /** Number of all rows, if requested. */
  total?: number
}

export type Filters = Readonly<Record<string, string>>

/** Returns the filters in the URL and a function that changes them. Empty filters are left out. */
export function useFilters(names: readonly string[]): [Filters, (changes: Filters) => void] {
  const [path, navigate] = useLocation()
  const given = new URLSearchParams(useSearch())
  const filters = Object.fromEntries(names.flatMap((name) => (given.get(name) ? [[name, given.get(name)!]] : [])))
  return [
    filters,
    (changes) => {
      const query = queryOf({ ...filters, ...changes })
      navigate(path + query, { replace: true })
    },
  ]
}

/** Returns filters as a query string such as `?q=ada&role=owner`, or an empty string. */
export function queryOf(filters: Filters): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== "")).toString()
  return query === "" ? "" : `?${query}`
}

export interface RowsOptions<Row> {
  /** Returns the refetch interval in milliseconds for the visible rows. */
  refetchMs?: (rows: readonly Row[]) => number | false
}

/** Fetches the rows of a list, page by page as the user asks for more. `key` is the start of the cache key. */
export function useRows<Row>(key: readonly unknown[], path: string, filters: Filters = {}, { refetchMs }: RowsOptions<Row> = {}) {
  const asked = useInfiniteQuery({
    queryKey: [...key, filters],
    queryFn: ({ pageParam, signal }) => get<Listed<Row>>(`${path}${queryOf({ ...filters, limit: "50", cursor: pageParam })}`, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => refetchMs?.(state.data?.pages.flatMap(({ data }) => data) ?? []) ?? false,
  })
  return { ...asked, rows: asked.data?.pages.flatMap(({ data }) => data) }
}

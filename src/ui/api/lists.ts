/** Lists that come in parts: what they are narrowed by stands in the address. */
import { useInfiniteQuery } from "@tanstack/react-query"
import { useLocation, useSearch } from "wouter"
import { get } from "./api.ts"

/** A part of a list. */
export interface Listed<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
  /** Where it was asked for. */
  total?: number
}

export type Filters = Readonly<Record<string, string>>

/** The filters that the address names, and how to change them; an empty one is left out. */
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

/** `?q=ada&role=owner`, or nothing. */
export function queryOf(filters: Filters): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== "")).toString()
  return query === "" ? "" : `?${query}`
}

export interface RowsOptions<Row> {
  /** Asked again after so long, as what is shown demands it. */
  refetchMs?: (rows: readonly Row[]) => number | false
}

/** Rows of a list at an address of the server, up to where somebody has asked for more. `key` begins the key of the cache. */
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

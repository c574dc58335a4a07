/** Requests of plugin pages: queries about a site, paged lists whose filters are stored in the URL, and downloads. */

import { type UseQueryResult, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query"
import { useLocation, useSearch } from "wouter"
import type { SessionResponse } from "../../domain/account.ts"
import type { PrivatePage } from "../../domain/response.ts"
import { get, post, requestIdentity, send } from "./api.ts"

/** Returns the query hooks of a plugin for a site. `path` is relative to the site's route; `useRefresh` is for use after a write. */
export function areaQueries(area: string) {
  return {
    /** Fetches a route of the site. The previous answer stays visible until the next one arrives. */
    useSiteQuery: <Data>(siteId: number, path: string, enabled = true): UseQueryResult<Data, Error> =>
      useQuery({
        queryKey: [area, siteId, path],
        queryFn: ({ signal }) => get<Data>(`/api/private/sites/${siteId}/${path}`, signal),
        placeholderData: (before) => before,
        enabled,
      }),
    /** Posts a question that changes nothing, such as the definition of a report. A superseded question is cancelled. */
    useSiteAnswer: <Data>(siteId: number, path: string, question: object, enabled = true): UseQueryResult<Data, Error> =>
      useQuery({
        queryKey: [area, siteId, path, question],
        queryFn: ({ signal }) => post<Data>(`/api/private/sites/${siteId}/${path}`, question, { signal }),
        placeholderData: (before) => before,
        retry: false,
        enabled,
      }),
    /** Returns a function that refetches all queries of the plugin about the site. */
    useRefresh(siteId: number): () => Promise<void> {
      const client = useQueryClient()
      return () => client.invalidateQueries({ queryKey: [area, siteId] })
    },
  }
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
    queryFn: ({ pageParam, signal }) => get<PrivatePage<Row>>(`${path}${queryOf({ ...filters, limit: "50", cursor: pageParam })}`, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => refetchMs?.(state.data?.pages.flatMap(({ data }) => data) ?? []) ?? false,
  })
  return { ...asked, rows: asked.data?.pages.flatMap(({ data }) => data) }
}

/**
 * Resolves when the user has confirmed their identity recently, asking them if necessary. For requests that bypass `send`, such as
 * downloads. Rejects with `Cancelled` if the user cancels.
 */
export async function confirmIdentity(): Promise<void> {
  const { reauth_until } = await send<SessionResponse>("/api/private/auth/session")
  if (reauth_until === undefined) await requestIdentity()
}

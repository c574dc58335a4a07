/** Queries to the admin routes, and their invalidation after a write. */
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { type Filters, get, type RowsOptions, useRows as useAnyRows } from "#plugin/ui"

export const ADMIN = "/api/private/admin"

/** Fetches `/api/private/admin/<path>`. The previous answer stays visible while a new one is fetched. */
export const useAdmin = <Data>(path: string, options: { refetchMs?: number; enabled?: boolean } = {}): UseQueryResult<Data, Error> =>
  useQuery({
    queryKey: ["admin", path],
    queryFn: ({ signal }) => get<Data>(`${ADMIN}/${path}`, signal),
    placeholderData: (before) => before,
    ...(options.refetchMs !== undefined && { refetchInterval: options.refetchMs }),
    ...(options.enabled !== undefined && { enabled: options.enabled }),
  })

/** Returns a function that refetches all queries whose path starts with one of the given paths, and the instance state bar. */
export function useRefresh(): (...paths: readonly string[]) => Promise<void> {
  const client = useQueryClient()
  return async (...paths) => {
    const isStale = (key: readonly unknown[]) =>
      key[0] === "instance-state" || (key[0] === "admin" && paths.some((path) => String(key[1]).startsWith(path)))
    await client.invalidateQueries({ predicate: ({ queryKey }) => isStale(queryKey) })
  }
}

/** Fetches the rows of a list below `/api/private/admin`, page by page as the user asks for more. */
export const useRows = <Row>(path: string, filters: Filters = {}, options: RowsOptions<Row> = {}) =>
  useAnyRows<Row>(["admin", path], `${ADMIN}/${path}`, filters, options)

/** Questions to the console's routes, and what changes with a write. */
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { get } from "#plugin/ui"
import { ADMIN } from "./list.ts"

/** One answer below `/api/private/admin`. */
export const useAdmin = <Data>(path: string, options: { refetchMs?: number; enabled?: boolean } = {}): UseQueryResult<Data, Error> =>
  useQuery({
    queryKey: ["admin", path],
    queryFn: ({ signal }) => get<Data>(`${ADMIN}/${path}`, signal),
    placeholderData: (before) => before,
    ...(options.refetchMs !== undefined && { refetchInterval: options.refetchMs }),
    ...(options.enabled !== undefined && { enabled: options.enabled }),
  })

/** After a write: whatever begins with one of these paths is asked again; what is over every page too. */
export function useRefresh(): (...paths: readonly string[]) => Promise<void> {
  const client = useQueryClient()
  return async (...paths) => {
    const isMeant = (key: readonly unknown[]) =>
      key[0] === "instance-state" || (key[0] === "admin" && paths.some((path) => String(key[1]).startsWith(path)))
    await client.invalidateQueries({ predicate: ({ queryKey }) => isMeant(queryKey) })
  }
}

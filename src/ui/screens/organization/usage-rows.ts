import { writesOf } from "./keys/scopes.ts"

/** Response of `GET …/api-keys/{id}/usage`. Days are in UTC. */
export interface UsageShown {
  from: string
  to: string
  data: { day: string; route: string; status: string; requests: number }[]
}

interface RouteUse {
  route: string
  requests: number
  rejected: number
  lastDay: string
}

/** Sums the requests of a key by route, most used first. */
export function byRoute(rows: UsageShown["data"]): RouteUse[] {
  const routes = Map.groupBy(rows, ({ route }) => route)
  return [...routes]
    .map(([route, own]) => ({
      route,
      requests: sum(own),
      rejected: sum(own.filter(({ status }) => status === "4xx")),
      lastDay:
        own
          .map(({ day }) => day)
          .toSorted()
          .at(-1) ?? "",
    }))
    .toSorted((a, b) => b.requests - a.requests)
}

export const sum = (rows: readonly { requests: number }[]): number => rows.reduce((total, { requests }) => total + requests, 0)

/** Returns the write scopes of a key that was used for reading only. */
export function unusedWrites(scopes: readonly string[], rows: UsageShown["data"]): readonly string[] {
  const wrote = rows.some(
    ({ route }) => /^(PUT|PATCH|DELETE) /.test(route) || /^POST .*\/(sites|goals|funnels|events|annotations)$/.test(route),
  )
  return rows.length > 0 && !wrote ? writesOf(scopes) : []
}

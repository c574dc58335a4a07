import type { ApiKey } from "../domain/key.ts"
import type { KeyUsage } from "../services/api-keys/key-usage.ts"

/** Counts responses to requests with a key, by route and status. */
export function keyRequests(usage: Pick<KeyUsage, "count">) {
  const keys = new WeakMap<Request, number>()
  return {
    onKey: (request: Request, { id }: Pick<ApiKey, "id">): void => void keys.set(request, id),
    onAnswer(request: Request, { status }: Pick<Response, "status">): void {
      const keyId = keys.get(request)
      if (keyId !== undefined) usage.count({ keyId, route: routeOf(request), status })
    },
  }
}

/** Returns the route for the statistics, with ids replaced. Only existing paths reach this point, and their ids are numbers. */
const routeOf = ({ method, url }: Request): string =>
  `${method} ${new URL(url).pathname.replace(/\/$/, "").replace(/\/\d+(?=\/|$)/g, "/:id")}`

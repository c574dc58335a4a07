import type { ApiKey } from "../domain/key.ts"
import type { KeyUsage } from "../services/key-usage.ts"

/** Counts the answers to requests that came with a key, by what they asked for. */
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

/** Only paths that exist come this far, and what they name are numbers. */
const routeOf = ({ method, url }: Request): string =>
  `${method} ${new URL(url).pathname.replace(/\/$/, "").replace(/\/\d+(?=\/|$)/g, "/:id")}`

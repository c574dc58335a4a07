import { type Query, QueryClient } from "@tanstack/react-query"
import { Problem } from "./api.ts"

/** Returns whether an error may be temporary. Other errors are not retried, because the server would refuse again. */
const isPassing = (error: Error): boolean => error instanceof Problem && (error.status === 503 || error.status === 429)

/** Creates the query client of all screens. */
export function createQueryClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < 2 && isPassing(error),
        // Without a network, queries fail at once instead of leaving the figures of another query on the page.
        networkMode: "always",
        refetchOnReconnect: true,
      },
    },
  })
  keepFailures(client)
  return client
}

/**
 * Keeps a failed query in the state `error` until it succeeds. The library clears the error at every refetch, so the message would
 * flicker on the screen.
 */
function keepFailures(client: QueryClient): void {
  const failures = new WeakMap<Query, Error>()
  client.getQueryCache().subscribe((event) => {
    if (event.type !== "updated") return
    const { query, action } = event
    const { error } = query.state
    const before = failures.get(query)
    if (error) failures.set(query, error)
    // Cache listeners run before components render, so the cleared error is never visible.
    else if (before && action.type === "fetch") query.setState({ status: "error", error: before })
    else failures.delete(query)
  })
}

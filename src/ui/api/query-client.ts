import { type Query, QueryClient } from "@tanstack/react-query"
import { Problem } from "./api.ts"

/** What the server has refused it refuses again; only what may pass by itself is asked once more. */
const isPassing = (error: Error): boolean => error instanceof Problem && (error.status === 503 || error.status === 429)

/** Asks the questions of all screens, and keeps their answers. */
export function createQuestionClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => failures < 2 && isPassing(error),
        // Without a network a question fails at once: it does not wait with the figures of another one on the page.
        networkMode: "always",
        refetchOnReconnect: true,
      },
    },
  })
  keepFailures(client)
  return client
}

/**
 * A question that has failed stays failed until it is answered. The library forgets the failure whenever it asks again, which
 * it does by itself: on the screen the words of the failure would come and go.
 */
function keepFailures(client: QueryClient): void {
  const failures = new WeakMap<Query, Error>()
  client.getQueryCache().subscribe((event) => {
    if (event.type !== "updated") return
    const { query, action } = event
    const { error } = query.state
    const before = failures.get(query)
    if (error) failures.set(query, error)
    // Told before anybody sees that it was forgotten: the cache hears of a change while it is still being made.
    else if (before && action.type === "fetch") query.setState({ status: "error", error: before })
    else failures.delete(query)
  })
}

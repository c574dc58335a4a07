import { Elysia } from "elysia"
import type { Live, LiveEvent } from "../../../services/stats/live.ts"
import type { Peers } from "../../../web/guard.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import type { Clients } from "../../caller.ts"
import { NoQuery } from "../../public/requests.ts"
import { answersFile } from "../responses.ts"
import type { SessionWatch } from "../session-watch.ts"

export interface LiveRoutesOptions extends Pick<Clients, "addressOf"> {
  live: Live
  sessionWatch: SessionWatch
}

const COMMENT_MS = 15_000
/** Buffer limit for a slow reader. Beyond it the newest events are skipped, because live events are not stored. */
const WAITING = 1_000
const UTF8 = new TextEncoder()

/** Creates the route that streams incoming events as server-sent events until the session ends. */
export const liveRoutes = (router: PrivateRouter, { live, sessionWatch, addressOf }: LiveRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/live" }).use(router).get(
    "",
    ({ site, user, session, request, server }) => {
      const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" }
      if (request.method === "HEAD") return new Response(null, { headers })
      // The connection can be idle for longer than usual.
      const peers: Peers | null = server
      peers?.timeout?.(request, 0)
      const { signal, end } = sessionWatch.whileSignedIn(request, session, site.id)
      const left = new AbortController()
      const over = AbortSignal.any([signal, left.signal])
      over.addEventListener("abort", end, { once: true })
      return new Response(
        eventStream(
          (tell) => live.watch(site, { userId: user.id, address: addressOf({ request, server: peers }), tell }, over),
          over,
          () => left.abort(),
        ),
        { headers },
      )
    },
    {
      can: "site:read",
      query: NoQuery,
      detail: { summary: "Stream incoming events as server-sent events", tags: ["live"], ...answersFile("text/event-stream") },
    },
  )

/** Creates the stream. `watch` starts before the response, so that its errors can be returned. */
function eventStream(watch: (tell: (event: LiveEvent) => void) => void, over: AbortSignal, leave: () => void): ReadableStream<Uint8Array> {
  const waiting = [": welcome\n\n"]
  let write = (text: string): void => void waiting.push(text)
  const tell = ({ event, data }: LiveEvent) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  try {
    watch(tell)
  } catch (thrown) {
    leave()
    throw thrown
  }
  let isLeft = false
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        write = (text) => {
          if (!over.aborted && (controller.desiredSize ?? 0) > -WAITING) controller.enqueue(UTF8.encode(text))
        }
        for (const text of waiting) write(text)
        const comments = setInterval(() => write(": still there\n\n"), COMMENT_MS)
        const close = () => {
          clearInterval(comments)
          // The stream is already closed if the reader has disconnected.
          if (!isLeft) controller.close()
        }
        if (over.aborted) close()
        else over.addEventListener("abort", close, { once: true })
      },
      cancel() {
        isLeft = true
        leave()
      },
    },
    { highWaterMark: 16 },
  )
}

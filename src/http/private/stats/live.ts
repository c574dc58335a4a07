import { Elysia } from "elysia"
import type { Peers } from "../../plugin/guard.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Live, LiveEvent } from "../../services/live.ts"
import { NoQuery } from "../public/things.ts"
import { answersFile } from "./sent-bodies.ts"
import type { SessionWatch } from "./session-watch.ts"

export interface LiveRoutesOptions {
  live: Live
  sessionWatch: SessionWatch
}

const COMMENT_MS = 15_000
/** Behind a reader who takes nothing for so long, the newest events are left out: they are gone when they are not read. */
const WAITING = 1_000
const UTF8 = new TextEncoder()

/** What comes in while somebody looks, as server-sent events, until the session ends. */
export const liveRoutes = (router: PrivateRouter, { live, sessionWatch }: LiveRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/live" }).use(router).get(
    "",
    ({ site, user, session, request, server }) => {
      const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" }
      if (request.method === "HEAD") return new Response(null, { headers })
      // The line may be quiet for longer than usual.
      const peers: Peers | null = server
      peers?.timeout?.(request, 0)
      const { signal, end } = sessionWatch.whileSignedIn(request, session, site.id)
      const left = new AbortController()
      const over = AbortSignal.any([signal, left.signal])
      over.addEventListener("abort", end, { once: true })
      return new Response(
        eventStream(
          (tell) => live.watch(site, user.id, tell, over),
          over,
          () => left.abort(),
        ),
        { headers },
      )
    },
    {
      can: "site:read",
      query: NoQuery,
      detail: { summary: "What comes in, as server-sent events", tags: ["live"], ...answersFile("text/event-stream") },
    },
  )

/** `watch` begins before there is an answer, so that what it refuses can be said. */
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
          // A reader who left has closed it.
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

import { isFinished, type Job } from "../../domain/job.ts"
import type { Jobs } from "../../services/jobs/jobs.ts"
import type { Asked } from "./host.ts"

const PROGRESS_MS = 500
const COMMENT_MS = 15_000

/**
 * Creates the response that streams the progress of a job (areas/00 section 12): `progress` at most twice a second, `end` with the
 * final state, and a comment every 15 s so that proxies keep the connection open. `show` selects the members of the job.
 */
export function progressStream(
  jobs: Pick<Jobs, "get" | "watch">,
  job: Job,
  { request, server }: Asked,
  show: (job: Job) => object | Promise<object>,
): Response {
  // The connection can be idle for longer than usual.
  server?.timeout?.(request, 0)
  const ended = new AbortController()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => follow(jobs, job, show, controller, ended.signal),
    cancel: () => ended.abort(),
  })
  request.signal.addEventListener("abort", () => ended.abort())
  const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" }
  return new Response(body, { headers })
}

const UTF8 = new TextEncoder()

async function follow(
  jobs: Pick<Jobs, "get" | "watch">,
  first: Job,
  show: (job: Job) => object | Promise<object>,
  controller: ReadableStreamDefaultController<Uint8Array>,
  left: AbortSignal,
): Promise<void> {
  const write = (text: string) => controller.enqueue(UTF8.encode(text))
  const tell = async (event: string, job: Job) => write(`event: ${event}\ndata: ${JSON.stringify(await show(job))}\n\n`)
  let latest: Job | undefined = first
  let wake: () => void = () => {}
  const unwatch = jobs.watch(first.id, (job) => {
    latest = job
    wake()
  })
  const comments = setInterval(() => write(": still there\n\n"), COMMENT_MS)
  left.addEventListener("abort", () => wake())
  try {
    // State before the stream was opened.
    latest = (await jobs.get(first.id)) ?? first
    while (!left.aborted) {
      const job = latest
      latest = undefined
      if (job && isFinished(job)) return await tell("end", job)
      if (job) await tell("progress", job)
      await Bun.sleep(PROGRESS_MS)
      if (latest === undefined && !left.aborted) await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    unwatch()
    clearInterval(comments)
    if (!left.aborted) controller.close()
  }
}

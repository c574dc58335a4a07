/**
 * Synchronous requests to another thread. The functions of queries are synchronous, so a query worker sends what needs the network to a
 * thread and blocks until the answer is there.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads"

interface ThreadChannel<Request, Answer> {
  send(request: Request): SentRequest<Answer>
  close(): void
}

/** A request that is open until its answer is received or it is cancelled. */
export interface SentRequest<Answer> {
  /** Waits for the answer. `check` throws when the query that needs it was cancelled; then the request is aborted. */
  receive(check: () => void): Answer
  /** Aborts the request. Its answer cannot be received any more. */
  cancel(): void
}

/** Messages to the thread. An `end` without effect is one whose request has been answered. */
type ToThread<Opening, Request> =
  | { type: "open"; opening: Opening; port: MessagePort; flag: SharedArrayBuffer }
  | { type: "ask"; id: number; request: Request }
  | { type: "end"; id: number }

type FromThread<Answer> = { id: number } & ({ answer: Answer } | { failure: string })

/** How often a waiting thread looks whether its query was cancelled. */
const CHECK_MS = 50

/** Opens a channel. `threadUrl` is a worker that calls `answerRequests`. */
export function openThreadChannel<Opening, Request, Answer>(threadUrl: string, opening: Opening): ThreadChannel<Request, Answer> {
  const thread = new Worker(threadUrl)
  const { port1, port2 } = new MessageChannel()
  const shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  /** Number of answers so far. */
  const answers = new Int32Array(shared)
  const post = (message: ToThread<Opening, Request>, transfer: MessagePort[] = []) =>
    thread.postMessage(message, transfer as unknown as Transferable[])
  post({ type: "open", opening, port: port2, flag: shared }, [port2])
  let last = 0

  /** By open request, what has arrived. */
  const open = new Map<number, FromThread<Answer> | undefined>()

  /** Takes what has arrived. Answers to cancelled requests are dropped. */
  function takeArrived(): void {
    for (;;) {
      const received = receiveMessageOnPort(port1) as { message: FromThread<Answer> } | undefined
      if (!received) return
      const { id } = received.message
      if (open.has(id)) open.set(id, received.message)
    }
  }

  return {
    send(request) {
      const id = ++last
      open.set(id, undefined)
      post({ type: "ask", id, request })
      const cancel = () => {
        if (open.delete(id)) post({ type: "end", id })
      }
      return {
        cancel,
        receive(check) {
          try {
            for (;;) {
              const count = Atomics.load(answers, 0)
              takeArrived()
              const received = open.get(id)
              if (received) {
                open.delete(id)
                if ("failure" in received) throw new Error(received.failure)
                return received.answer
              }
              check()
              Atomics.wait(answers, 0, count, CHECK_MS)
            }
          } finally {
            cancel()
          }
        },
      }
    },
    close() {
      thread.terminate()
      port1.close()
    },
  }
}

/** Answers a request. An error that the caller should tell apart is part of the answer. */
type AnswerRequest<Request, Answer> = (request: Request, signal: AbortSignal) => Promise<Answer>

/** Answers the requests of a channel, in its thread: `self.onmessage = answerRequests(open)`. `transfers` names the buffers of an answer that are moved. */
export function answerRequests<Opening, Request, Answer>(
  open: (opening: Opening) => AnswerRequest<Request, Answer>,
  transfers: (answer: Answer) => ArrayBuffer[] = () => [],
): (event: MessageEvent<ToThread<Opening, Request>>) => void {
  let answer: (id: number, request: Request) => void = () => {}
  const running = new Map<number, AbortController>()
  function begin({ opening, port, flag }: Extract<ToThread<Opening, Request>, { type: "open" }>): void {
    const work = open(opening)
    const answers = new Int32Array(flag)
    const reply = (message: FromThread<Answer>, transfer: ArrayBuffer[] = []) => {
      port.postMessage(message, transfer)
      Atomics.add(answers, 0, 1)
      Atomics.notify(answers, 0)
    }
    answer = async (id, request) => {
      const controller = new AbortController()
      running.set(id, controller)
      try {
        const found = await work(request, controller.signal)
        reply({ id, answer: found }, transfers(found))
      } catch (error) {
        reply({ id, failure: String(error) })
      } finally {
        running.delete(id)
      }
    }
  }
  return ({ data }) => {
    if (data.type === "open") begin(data)
    else if (data.type === "ask") answer(data.id, data.request)
    else running.get(data.id)?.abort()
  }
}

/** A thread that receives webhooks and answers at once. It posts its port, then ten times a second what has arrived. */

export type ReceiverMessage =
  | { port: number }
  | {
      /** Number of different messages. */
      arrived: number
      /** Time of the latest, in epoch milliseconds. */
      at: number
    }

// The compiler assumes the globals of a window.
declare const self: Worker

const ids = new Set<string>()
let at = 0
const { port } = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    await request.arrayBuffer()
    ids.add(request.headers.get("webhook-id")!)
    at = performance.timeOrigin + performance.now()
    return new Response()
  },
})
const post = (message: ReceiverMessage) => self.postMessage(message)
post({ port: port! })
setInterval(() => post({ arrived: ids.size, at }), 100)

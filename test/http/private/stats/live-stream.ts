import type { TestInstance } from "../../../kit.ts"

interface Message {
  event: string
  data: Record<string, unknown>
}

/** Collects the messages of a stream as they arrive. */
export function listen(response: Response) {
  const messages: Message[] = []
  let isOver = false
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const read = async () => {
    let text = ""
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      text += value
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? []
        if (event && data) messages.push({ event, data: JSON.parse(data) })
        text = text.slice(end + 2)
      }
    }
    isOver = true
  }
  const reading = read()
  const until = async (holds: () => boolean, ms = 2_000) => {
    const end = performance.now() + ms
    while (!holds() && performance.now() < end) await Bun.sleep(5)
    return holds()
  }
  return {
    messages,
    holds: until,
    seen: (event: string, ms?: number) => until(() => messages.some((each) => each.event === event), ms),
    ended: (ms: number) => until(() => isOver, ms),
    close: async () => {
      await reader.cancel()
      await reading
    },
  }
}

/** Opens the live stream of a site. */
export const open = (instance: TestInstance, cookie: string, path = "/api/private/sites/1/live") =>
  instance.fetch(new Request(`http://localhost${path}`, { headers: { cookie } }))

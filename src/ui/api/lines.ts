/** Responses that arrive line by line. Apart from `api.ts`, which every page loads first. */
import { Problem, respond, type Sending, withIdentity } from "./api.ts"

/** Posts a body and passes each line of the response (`application/x-ndjson`) to `onLines` as soon as it arrives, with those that came with it. */
export async function postLines<Line>(
  path: string,
  body: unknown,
  { onLines, ...sending }: Pick<Sending, "signal"> & { onLines(lines: Line[]): void },
): Promise<void> {
  const headers = { accept: "application/x-ndjson" }
  const response = await withIdentity(sending, () => respond(path, { ...sending, method: "POST", body, headers }))
  const decoder = new TextDecoder()
  let rest = ""
  const reader = response.body!.getReader() // a response to POST has a body
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + decoder.decode(read.value, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      if (lines.length > 0) onLines(lines.map((line) => JSON.parse(line) as Line)) // as `send`
    }
  } catch (error) {
    if (sending.signal?.aborted) throw error
    throw new Problem(0, "offline", "Can't reach the server.")
  }
}

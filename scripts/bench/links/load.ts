/**
 * A loop of GET requests, each with the user agent and address of one of 5,000 people. Runs as a separate process: the options
 * are one JSON argument, the result is one line of JSON.
 */
import { personOf } from "../../../src/services/demo/people.ts"
import { type LoopOptions, requestLoop } from "../ingest/request-loop.ts"

export interface LinkLoadOptions extends LoopOptions {
  path: string
}

const PEOPLE = 5_000

if (import.meta.main) {
  const options: LinkLoadOptions = JSON.parse(Bun.argv[2]!)
  const requests = requestsOf(options.path)
  let sent = 0
  console.log(JSON.stringify(await requestLoop(options, () => requests[sent++ % PEOPLE]!)))
}

function requestsOf(path: string): Uint8Array[] {
  return Array.from({ length: PEOPLE }, (_, person) => {
    const { address, userAgent, language } = personOf(7, person)
    const head = ["Host: localhost", `User-Agent: ${userAgent}`, `Accept-Language: ${language}`, `X-Forwarded-For: ${address}`]
    return Buffer.from(`GET ${path} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n`)
  })
}

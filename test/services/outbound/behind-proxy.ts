/** Sends one request in an environment with proxy variables. The first argument is the address. */
import { createOutbound } from "../../../src/services/outbound/outbound.ts"

const [url = ""] = Bun.argv.slice(2)
const settings = { enabled: true, allowHttp: true, ports: [Number(URL.parse(url)?.port)], privateRanges: ["127.0.0.0/8"] }
const { fetch } = createOutbound({ settings, clock: { now: Date.now, monotonic: () => performance.now() }, version: "0.0.0" })
console.log(new TextDecoder().decode((await fetch(url)).body))

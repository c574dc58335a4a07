import { expect, test } from "bun:test"
import { privateOrigins } from "../../../src/http/private/origins.ts"

/** Decides which pages belong to the dashboard, by the URL the request was sent to. */

const HOSTED = privateOrigins({ baseUrl: "https://stats.example", allowedHosts: ["other.example"] })
const UNNAMED = privateOrigins({ baseUrl: "", allowedHosts: [] })

test.each([
  ["the base URL", HOSTED, "https://stats.example", "https://stats.example", true],
  ["the base URL, behind a proxy that changes the host", HOSTED, "http://127.0.0.1:8080", "https://stats.example", true],
  ["an allowed host", HOSTED, "http://stats.example", "https://other.example", true],
  ["a tunnel to this machine", HOSTED, "http://localhost:9000", "http://localhost:9000", true],
  ["another program on the reader's machine", HOSTED, "https://stats.example", "http://localhost:3000", false],
  ["another program on the reader's machine, by IP address", HOSTED, "https://stats.example", "http://127.0.0.1", false],
  ["another port than the tunnel", HOSTED, "http://localhost:9000", "http://localhost:3000", false],
  ["an address in the local network", UNNAMED, "http://10.0.0.5:8080", "http://10.0.0.5:8080", true],
  ["any other address", UNNAMED, "http://10.0.0.5:8080", "http://203.0.113.9", false],
] as const)("decides whether a page of %s can write", (_, origins, called, origin, isAllowed) => {
  const write = () => origins.refuseCrossSite(new Request(`${called}/api/private/me`, { method: "PATCH", headers: { origin } }))
  if (isAllowed) expect(write()).toBeUndefined()
  else expect(write).toThrow(expect.objectContaining({ code: "origin_not_allowed" }))
})

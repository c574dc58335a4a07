import { expect, test } from "bun:test"
import { accepts, encodingOf } from "../../src/http/accept.ts"

const asking = (name: string, value: string) => new Request("http://localhost/", { headers: { [name]: value } })

test.each([
  ["", true],
  ["*/*", true],
  ["application/json", true],
  ["Application/JSON; charset=utf-8", true],
  ["application/*;q=0.1", true],
  ["text/html, application/json;q=0.5", true],
  ["text/html, */*;q=0.1", true],
  ["text/html", false],
  ["text/*", false],
  ["application/xml", false],
  ["application/json;q=0", false],
  ["application/json;q=0, */*", false],
  ["application/*;q=0, */*", false],
  ["application/json, */*;q=0", true],
  ["application/json;q=x", false],
  [",,;", false],
])("Accept %p allows JSON: %p", (header, admitted) => {
  expect(accepts(asking("accept", header), "application/json")).toBe(admitted)
})

test.each<[string, string | undefined]>([
  ["", undefined],
  ["identity", undefined],
  ["gzip, deflate, br", "gzip"],
  ["gzip, deflate, br, zstd", "zstd"],
  ["zstd;q=0, gzip", "gzip"],
  ["GZIP;q=0.5", "gzip"],
  ["gzip;q=0.0", undefined],
])("Accept-Encoding %p selects %p", (header, encoding) => {
  expect(encodingOf(asking("accept-encoding", header)) as string | undefined).toBe(encoding)
})

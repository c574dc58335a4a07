import { afterAll, beforeAll, expect, test } from "bun:test"
import { type McpInstance, openMcp } from "./client.ts"

let mcp: McpInstance
beforeAll(async () => {
  mcp = await openMcp()
})
afterAll(() => mcp[Symbol.asyncDispose]())

const utf8 = (text: string) => new TextEncoder().encode(text)
const deep = (levels: number) => `{"jsonrpc":"2.0","id":7,"method":"ping","params":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}`

test.each<[string, string | Uint8Array, number, unknown]>([
  ["no body", "", -32700, null],
  ["broken JSON", '{"jsonrpc":"2.0","id":7,"method":"ping"', -32700, null],
  ["invalid UTF-8", Uint8Array.of(...utf8('{"jsonrpc":"2.0","id":7,"method":"'), 0xc3, 0x28, ...utf8('"}')), -32700, null],
  ["UTF-16", new Uint8Array(Buffer.from('{"jsonrpc":"2.0","id":7,"method":"ping"}', "utf16le")), -32700, null],
  ["eleven levels of nesting", deep(10), -32700, null],
  ["a hundred thousand levels of nesting", "[".repeat(100_000), -32700, null],
  ["a batch", '[{"jsonrpc":"2.0","id":7,"method":"ping"}]', -32600, null],
  ["an empty batch", "[]", -32600, null],
  ["null", "null", -32600, null],
  ["a string", '"ping"', -32600, null],
  ["a number", "7", -32600, null],
  ["an empty object", "{}", -32600, null],
  ["no jsonrpc", '{"id":7,"method":"ping"}', -32600, 7],
  ["jsonrpc as a number", '{"jsonrpc":2.0,"id":7,"method":"ping"}', -32600, 7],
  ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a"],
  ["no method", '{"jsonrpc":"2.0","id":7}', -32600, 7],
  ["a number as the method", '{"jsonrpc":"2.0","id":7,"method":5}', -32600, 7],
  ["a null method in a notification", '{"jsonrpc":"2.0","method":null}', -32600, null],
  ["a null id", '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
  ["an id with a fraction", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, null],
  ["an id beyond exact integers", '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', -32600, null],
  ["an infinite id", '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', -32600, null],
  ["true as the id", '{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, null],
  ["an object as the id", '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
  ["an array as the id", '{"jsonrpc":"2.0","id":[7],"method":"ping"}', -32600, null],
  ["a result and an error", '{"jsonrpc":"2.0","id":7,"result":{},"error":{}}', -32600, 7],
  ["a result without an id", '{"jsonrpc":"2.0","result":{}}', -32600, null],
  ["an error with a null id", '{"jsonrpc":"2.0","id":null,"error":{}}', -32600, null],
])("rejects %s", async (_, body, code, id) => {
  const answer = await mcp.post(body, { "content-type": "application/json" })
  expect(answer).toMatchObject({ status: 400, body: { jsonrpc: "2.0", id, error: { code } } })
  expect(Object.keys(answer.body as object)).toEqual(["jsonrpc", "id", "error"])
})

test.each<[string, string | Uint8Array, unknown]>([
  ["a number", '{"jsonrpc":"2.0","id":7,"method":"ping"}', 7],
  ["zero", '{"jsonrpc":"2.0","id":0,"method":"ping"}', 0],
  ["a negative number", '{"jsonrpc":"2.0","id":-5,"method":"ping"}', -5],
  ["a whole number with a decimal point", '{"jsonrpc":"2.0","id":5.0,"method":"ping"}', 5],
  ["a string", '{"jsonrpc":"2.0","id":"a-b","method":"ping"}', "a-b"],
  ["an empty string", '{"jsonrpc":"2.0","id":"","method":"ping"}', ""],
  ["a lone surrogate", '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', "\ud800"],
  ["the last of two ids", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 2],
  ["preceded by a byte order mark", '\ufeff{"jsonrpc":"2.0","id":7,"method":"ping"}', 7],
  ["accompanied by unknown members", '{"jsonrpc":"2.0","id":7,"method":"ping","__proto__":{"id":8},"extra":1}', 7],
  ["in a request of ten levels", deep(9), 7],
])("answers a request whose id is %s", async (_, body, id) => {
  expect(await mcp.post(body)).toMatchObject({ status: 200, body: { jsonrpc: "2.0", id, result: {} } })
})

test.each([
  ["a notification", '{"jsonrpc":"2.0","method":"notifications/initialized"}'],
  ["an unknown notification", '{"jsonrpc":"2.0","method":"no/such"}'],
  [
    "a notification with a request's method",
    '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"get_summary","arguments":{"site_id":1}}}',
  ],
  ["a notification with an array as params", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}'],
  ["a cancellation", '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'],
  ["a notification with an id", '{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}'],
  ["a response", '{"jsonrpc":"2.0","id":7,"result":{}}'],
  ["an error response", '{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"no"}}'],
])("acknowledges %s", async (_, body) => {
  const answer = await mcp.post(body)
  expect({ status: answer.status, body: answer.body, type: answer.headers.get("content-type") }).toEqual({
    status: 202,
    body: "",
    type: null,
  })
})

const REFUSED = {
  status: 400,
  body: { error: { code: -32000, message: "Unsupported protocol version", data: { supported: ["2025-06-18"] } } },
}

test.each([
  ["of a request", '{"jsonrpc":"2.0","id":7,"method":"ping"}', 7],
  ["of an unknown method", '{"jsonrpc":"2.0","id":7,"method":"pong"}', 7],
  ["of a notification", '{"jsonrpc":"2.0","method":"notifications/initialized"}', null],
  ["of a response", '{"jsonrpc":"2.0","id":7,"result":{}}', null],
])("rejects another protocol version %s", async (_, body, id) => {
  for (const requested of ["2025-11-25", "2025-03-26", "", "2025-06-18, 2025-06-18", "draft"]) {
    const answer = await mcp.post(body, { "mcp-protocol-version": requested })
    expect(answer).toMatchObject(REFUSED)
    expect(answer.body).toMatchObject({ id, error: { data: { requested } } })
  }
})

test("initialize accepts any version in its header, other requests only the supported one or none", async () => {
  const params = { protocolVersion: "2099-01-01", capabilities: {}, clientInfo: { name: "a", version: "1" } }
  const hello = { jsonrpc: "2.0", id: 7, method: "initialize", params }
  expect((await mcp.post(hello, { "mcp-protocol-version": "2099-01-01" })).status).toBe(200)
  expect((await mcp.post({ jsonrpc: "2.0", id: 7, method: "ping" }, { "mcp-protocol-version": "2025-06-18" })).status).toBe(200)
})

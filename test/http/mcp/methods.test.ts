import { afterAll, beforeAll, expect, test } from "bun:test"
import { type McpInstance, openMcp } from "./client.ts"

let mcp: McpInstance
beforeAll(async () => {
  mcp = await openMcp({ settings: { server_name: "acme-stats" } })
})
afterAll(() => mcp[Symbol.asyncDispose]())

const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } }

test("initialize returns the server's name, its version and the instructions for the model", async () => {
  expect(await mcp.request("initialize", hello)).toEqual({
    result: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: { listChanged: false } },
      serverInfo: { name: "acme-stats", title: "Footfall", version: "0.0.0-test" },
      instructions: expect.stringMatching(/^Call list_sites first; .* never as instructions\.$/),
    },
  })
})

test("ping returns nothing, whatever its params", async () => {
  for (const params of [undefined, null, {}, { _meta: { progressToken: 1 } }])
    expect(await mcp.request("ping", params)).toEqual({ result: {} })
})

test("methods need no preceding initialize", async () => {
  await using fresh = await openMcp()
  expect(await fresh.request("tools/call", { name: "list_sites" })).toMatchObject({
    result: { structuredContent: { sites: [{ site_id: 1 }] } },
  })
})

test.each<[string, string, unknown, number, string]>([
  ["without params", "initialize", undefined, -32602, "Invalid params: protocolVersion must be a string"],
  [
    "with a number as the version",
    "initialize",
    { ...hello, protocolVersion: 2025 },
    -32602,
    "Invalid params: protocolVersion must be a string",
  ],
  ["without capabilities", "initialize", { ...hello, capabilities: undefined }, -32602, "Invalid params: capabilities must be an object"],
  ["with an array of capabilities", "initialize", { ...hello, capabilities: [] }, -32602, "Invalid params: capabilities must be an object"],
  [
    "without clientInfo",
    "initialize",
    { ...hello, clientInfo: null },
    -32602,
    "Invalid params: clientInfo must have the strings name and version",
  ],
  [
    "with a client without a name",
    "initialize",
    { ...hello, clientInfo: { version: "1" } },
    -32602,
    "Invalid params: clientInfo must have the strings name and version",
  ],
  [
    "with a client without a version",
    "initialize",
    { ...hello, clientInfo: { name: "a" } },
    -32602,
    "Invalid params: clientInfo must have the strings name and version",
  ],
  ["with an array of params", "ping", [], -32602, "Invalid params: params must be an object"],
  ["with a string as params", "tools/list", "all", -32602, "Invalid params: params must be an object"],
  ["with an array of params", "tools/call", ["list_sites"], -32602, "Invalid params: params must be an object"],
  ["with a cursor", "tools/list", { cursor: "a" }, -32602, "Invalid cursor"],
  ["with a null cursor", "tools/list", { cursor: null }, -32602, "Invalid cursor"],
  ["without a name", "tools/call", {}, -32602, "Unknown tool: undefined"],
  ["with a number as the name", "tools/call", { name: 5 }, -32602, "Unknown tool: number"],
  ["for an unknown tool", "tools/call", { name: "drop_site" }, -32602, "Unknown tool: drop_site"],
  ["for a tool with an inherited name", "tools/call", { name: "toString" }, -32602, "Unknown tool: toString"],
  ["for a tool with a long name", "tools/call", { name: "x".repeat(5_000) }, -32602, `Unknown tool: ${"x".repeat(100)}`],
  [
    "with an array of arguments",
    "tools/call",
    { name: "list_sites", arguments: [] },
    -32602,
    "Invalid params: arguments must be an object",
  ],
  ["with null arguments", "tools/call", { name: "list_sites", arguments: null }, -32602, "Invalid params: arguments must be an object"],
  [
    "with a string as arguments",
    "tools/call",
    { name: "get_summary", arguments: "{}" },
    -32602,
    "Invalid params: arguments must be an object",
  ],
  ["for resources", "resources/list", {}, -32601, "Method not found: resources/list"],
  ["for prompts", "prompts/list", undefined, -32601, "Method not found: prompts/list"],
  ["for logging", "logging/setLevel", { level: "info" }, -32601, "Method not found: logging/setLevel"],
  ["for completion", "completion/complete", {}, -32601, "Method not found: completion/complete"],
  ["of a later protocol version", "server/discover", {}, -32601, "Method not found: server/discover"],
  ["with an inherited name", "constructor", {}, -32601, "Method not found: constructor"],
  ["with different case", "Ping", {}, -32601, "Method not found: Ping"],
  ["with an empty name", "", [], -32601, "Method not found: "],
])("answers a request %s (%s) with a protocol error", async (_, method, params, code, message) => {
  expect(await mcp.request(method, params)).toEqual({ error: { code, message } })
})

test("tools/list accepts absent, null and empty params and returns one page", async () => {
  for (const params of [undefined, null, {}]) {
    const { result } = await mcp.request("tools/list", params)
    expect(Object.keys(result as object)).toEqual(["tools"])
  }
})

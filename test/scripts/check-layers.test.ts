import { expect, test } from "bun:test"
import { runOnTree } from "./tree.ts"

const check = (files: Record<string, string>) => runOnTree("scripts/check-layers.ts", files)

test("passes imports that go down, inside a layer, and in the wiring", () => {
  const files = {
    "src/domain/goal.ts": 'import { Type as t } from "@sinclair/typebox"',
    "src/store/catalog/goals.ts": 'import type { Goal } from "../../domain/goal.ts"\nimport { sql } from "./sql.ts"',
    "src/http/public/goals.ts": 'import { goals } from "../../services/goals.ts"',
    "src/app.ts": 'import { config } from "../config/schema.ts"\nimport { openStore } from "./store/events/events.ts"',
    "src/ui/api/api.ts": 'export const load = () => fetch("/api/private/me")',
    "plugins/links/links.ts": 'import { definePlugin } from "#plugin"\nimport slug from "./slug.ts"',
    "plugins/index.ts": 'import links from "./links/links.ts"',
  }
  expect(check(files)).toEqual({ status: 0, output: "", errors: "" })
})

test.each([
  ["up", "src/domain/goal.ts", 'import { open } from "../store/open.ts"', "src/domain must not import ../store/open.ts"],
  ["up for a type only", "src/store/a.ts", 'import type { Plan } from "../query/plan.ts"', "src/store must not import ../query/plan.ts"],
  ["sideways", "src/query/a.ts", 'import { run } from "../ingest/pipeline.ts"', "src/query must not import ../ingest/pipeline.ts"],
  ["by a lazy import", "src/domain/a.ts", 'const b = await import("../query/b.ts")', "src/domain must not import ../query/b.ts"],
  ["past the services", "src/http/a.ts", 'export { b } from "../store/b.ts"', "src/http must not import ../store/b.ts"],
  ["into the wiring", "src/services/a.ts", 'import { app } from "../app.ts"', "src/services must not import ../app.ts"],
  [
    "into the configuration",
    "src/services/a.ts",
    'import { c } from "../../config/schema.ts"',
    "src/services must not import ../../config/schema.ts",
  ],
  ["from one plugin to another", "plugins/a/a.ts", 'import b from "../b/b.ts"', "plugins/a must not import ../b/b.ts"],
  [
    "from a plugin into the core",
    "plugins/a/a.ts",
    'import b from "../../src/domain/b.ts"',
    "plugins/a must not import ../../src/domain/b.ts",
  ],
  ["from an unknown layer", "src/misc/a.ts", "export const a = 1", "src/misc is not a known layer"],
])("rejects an import %s", (_, file, source, fault) => {
  expect(check({ [file]: source })).toEqual({ status: 1, output: "", errors: `${file}: ${fault}\n` })
})

test.each([
  ["fetch", 'export const page = () => fetch("http://localhost")', "fetch"],
  ["fetch under another name", "const load = globalThis.fetch\nexport default load", "fetch"],
  ["a WebSocket", 'export const open = () => new WebSocket("ws://localhost")', "WebSocket"],
  ["a socket", "export const open = () => Bun.connect({ port: 1 })", "Bun.connect"],
  ["node:http", 'import { request } from "node:http"', "node:http"],
  ["dns without its prefix", 'import { lookup } from "dns/promises"', "dns/promises"],
])("rejects %s in server code", (_, source, name) => {
  expect(check({ "src/services/a.ts": source })).toEqual({
    status: 1,
    output: "",
    errors: `src/services/a.ts: only the outbound client may use ${name}\n`,
  })
})

test.each(["server?.requestIP(request)", 'request.headers.get("X-Forwarded-For")'])(
  "rejects a plugin that reads a client address: %s",
  (source) => {
    const file = "plugins/links/links.ts"
    expect(check({ [file]: `export const a = ${source}` })).toMatchObject({
      status: 1,
      errors: `${file}: a plugin must not look for an address\n`,
    })
    expect(check({ "plugins/links/test/links.test.ts": `export const a = ${source}` })).toMatchObject({ status: 0 })
  },
)

test("rejects folders of one layer that import each other, also by types", () => {
  const files = {
    "src/services/sites/sites.ts": 'import type { Goals } from "../goals/goals.ts"',
    "src/services/goals/goals.ts": 'import { sites } from "../sites/sites.ts"',
  }
  expect(check(files)).toEqual({
    status: 1,
    output: "",
    errors:
      "src/services/goals and src/services/sites import each other: src/services/goals/goals.ts imports src/services/sites/sites.ts, " +
      "and src/services/sites/sites.ts imports src/services/goals/goals.ts\n",
  })
})

test("accepts imports in both directions between a folder and a folder inside it", () => {
  const files = {
    "src/query/engine.ts": 'import { parse } from "./parse/parse.ts"',
    "src/query/parse/parse.ts": 'import type { Engine } from "../engine.ts"',
  }
  expect(check(files)).toEqual({ status: 0, output: "", errors: "" })
})

test("rejects files that import each other's values, and accepts types and lazy imports", () => {
  const a = "src/services/sites/a.ts"
  const b = "src/services/sites/b.ts"
  const back = { value: 'export { a } from "./a.ts"', type: 'import { type A, type Z } from "./a.ts"', lazy: 'const a = import("./a.ts")' }
  const from = (source: string) => check({ [a]: 'import { b } from "./b.ts"', [b]: source })
  expect(from(back.value)).toEqual({ status: 1, output: "", errors: `${a}, ${b}: these files import each other in a cycle\n` })
  expect(from(back.type)).toMatchObject({ status: 0 })
  expect(from(back.lazy)).toMatchObject({ status: 0 })
})

test("lets the command line reach the server through a Unix socket", () => {
  const source = "export const open = (path: string) => Bun.connect({ unix: path, socket: {} })"
  expect(check({ "src/services/runtime/control.ts": source })).toEqual({ status: 0, output: "", errors: "" })
})

test("lets a server answer in a method called fetch", () => {
  const source =
    "export const app = { fetch: (request: Request) => app.answer(request), async answer(request: Request) { return this.fetch(request) } }"
  expect(check({ "src/http/server.ts": source })).toEqual({ status: 0, output: "", errors: "" })
})

import { expect, test } from "bun:test"
import { runOnTree } from "./tree.ts"

const check = (files: Record<string, string>) => runOnTree("scripts/check-words.ts", files)

test("passes names that say what is inside, and sessions where people sign in", () => {
  const files = { "src/services/sessions.ts": "export const session = 1", "src/ingest/payloads/umami.ts": "export const getSession = 1" }
  expect(check({ ...files, "src/query/visits.ts": "export const visits = 1" })).toEqual({ status: 0, output: "", errors: "" })
})

test.each([
  ["src/query/plan.ts", "\nconst sessionCount = 1", "src/query/plan.ts:2: say visit; a session is a signed-in person"],
  ["src/ingest/visits.ts", "// a Session", "src/ingest/visits.ts:1: say visit; a session is a signed-in person"],
  ["src/store/events/log.sql", "select session", "src/store/events/log.sql:1: say visit; a session is a signed-in person"],
  ["src/domain/utils.ts", "", 'src/domain/utils.ts: "utils" says nothing; name the idea'],
  ["test/helpers/kit.ts", "", 'test/helpers/kit.ts: "helpers" says nothing; name the idea'],
  ["plugins/links/common.test.ts", "", 'plugins/links/common.test.ts: "common" says nothing; name the idea'],
  ["src/http/manager/a.ts", "", 'src/http/manager/a.ts: "manager" says nothing; name the idea'],
])("refuses %s", (file, source, fault) => {
  expect(check({ [file]: source })).toEqual({ status: 1, output: "", errors: `${fault}\n` })
})

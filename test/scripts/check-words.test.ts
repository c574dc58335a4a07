import { expect, test } from "bun:test"
import { runOnTree } from "./tree.ts"

const check = (files: Record<string, string>) => runOnTree("scripts/check-words.ts", files)

test("passes descriptive names, and sessions in the code for sign-in", () => {
  const files = {
    "src/services/sign-in/sessions.ts": "export const session = 1",
    "src/ingest/payloads/umami.ts": "export const getSession = 1",
  }
  expect(check({ ...files, "src/query/visits.ts": "export const visits = 1" })).toEqual({ status: 0, output: "", errors: "" })
})

test.each([
  ["src/query/plan.ts", "\nconst sessionCount = 1", "src/query/plan.ts:2: say visit; a session is a sign-in"],
  ["src/ingest/commit/visits.ts", "// a Session", "src/ingest/commit/visits.ts:1: say visit; a session is a sign-in"],
  ["src/store/events/log.sql", "select session", "src/store/events/log.sql:1: say visit; a session is a sign-in"],
  ["src/domain/utils.ts", "", 'src/domain/utils.ts: "utils" could contain anything; name the subject'],
  ["test/helpers/kit.ts", "", 'test/helpers/kit.ts: "helpers" could contain anything; name the subject'],
  ["plugins/links/common.test.ts", "", 'plugins/links/common.test.ts: "common" could contain anything; name the subject'],
  ["src/services/audit.ts", "type Deed = string", 'src/services/audit.ts:1: "Deed" is replaced by AuditEntry'],
  ["src/ui/menu.tsx", "\nconst label = 'Take along'", 'src/ui/menu.tsx:2: "Take along" is replaced by export or download'],
  ["src/http/manager/a.ts", "", 'src/http/manager/a.ts: "manager" could contain anything; name the subject'],
])("rejects %s", (file, source, fault) => {
  expect(check({ [file]: source })).toEqual({ status: 1, output: "", errors: `${fault}\n` })
})

import { expect, test } from "bun:test"
import { restoreBackup } from "../../../src/services/backup/restore.ts"
import { insertUser } from "../../../src/store/catalog/users.ts"
import { temporaryFolder } from "../../kit.ts"
import { backupWorkerUrl, NOW, openWithSite, quiet } from "../stores-kit.ts"

test("a restore ends all sessions and invalidates the links and pending sign-ins of the backup", async () => {
  using folder = temporaryFolder()
  const tokens = { session: "", reset: "", ticket: "" }
  let id = ""
  {
    await using instance = await openWithSite(folder.path)
    const { catalog, sessions, accounts, backups } = instance
    await catalog.transaction(async (statements) => {
      const fields = { email: "a@example.org", email_key: "a@example.org", name: "A", password_hash: null, is_instance_admin: false }
      const user = (await insertUser(statements, { ...fields, created_at: Date.parse(NOW) }))!
      const made = await sessions.create(statements, user, { method: "password", mfa: false, client: { userAgent: "", ipPrefix: "" } })
      tokens.session = made.token
      tokens.reset = await accounts.tokens.issue(statements, { purpose: "reset", userId: user.id, payload: {}, lifeMs: 3_600_000 })
      tokens.ticket = await accounts.tickets.issue(statements, { kind: "mfa", userId: user.id, payload: {}, lifeMs: 300_000 })
    })
    expect(await sessions.find(tokens.session)).toBeDefined()
    id = (await backups.create("manual")).id
  }
  const now = () => Date.parse(NOW) + 60_000
  const options = { dataDir: folder.path, version: "1.0.0", workerUrl: backupWorkerUrl, now, log: quiet, remoteCatalog: false, plugins: [] }
  await restoreBackup(options, id, () => {})
  await using restored = await openWithSite(folder.path)
  expect(await restored.sessions.find(tokens.session)).toBeUndefined()
  await expect(restored.accounts.tokens.peek("reset", tokens.reset)).rejects.toMatchObject({ code: "token_invalid" })
  await expect(restored.accounts.tickets.peek("mfa", tokens.ticket)).rejects.toMatchObject({ code: "ticket_invalid" })
})

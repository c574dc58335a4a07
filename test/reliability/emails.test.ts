import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { plugins } from "../../plugins/index.ts"
import { serving } from "../cli/footfall.ts"
import { smtpServer } from "../services/mail/smtp-server.ts"
import { bySize } from "../size.ts"
import { createOwner, createSite, signIn } from "./person.ts"

const KILLS = bySize({ check: 1, full: 15, release: 60 })
const RECIPIENTS = 20
/** Emails that the mail server can have without Footfall knowing it: one for each connection. */
const MAX_COPIES = 8

/** Addresses of a report at several domains. */
const recipientsOf = (report: number) =>
  Array.from({ length: RECIPIENTS }, (_, index) => `person-${index}@report-${report}-${index % 3}.example`)

test.skipIf(!plugins.some(({ id }) => id === "integrations"))(
  `no email is lost by ${KILLS} kills between the queue and the mail server, and a second copy has the same Message-ID`,
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "footfall-kills-"))
    await using mails = await smtpServer()
    mails.pause = 15
    try {
      await createOwner(dataDir)
      const flags = ["--smtp-host", "127.0.0.1", "--smtp-port", String(mails.port), "--smtp-security", "none"]
      const arrived = () => new Set(mails.mails.map(({ to }) => to[0]!))
      const acknowledged = new Set<number>()
      for (let kill = 0; kill <= KILLS; kill++) {
        await using server = await serving(dataDir, ...flags)
        const person = await signIn(server.address)
        if (kill === 0) await createSite(person)
        const { body: report } = await person.send("POST", "/reports", { kind: "weekly", recipients: recipientsOf(kill) })
        const sending = person.send("POST", `/reports/${report.id}/send-now`).then(
          ({ status }) => status === 200 && acknowledged.add(kill),
          () => undefined, // it was killed before it answered
        )
        if (kill === KILLS) await sending
        const isEnd = (): boolean =>
          kill === KILLS
            ? [...acknowledged].every((one) => recipientsOf(one).every((address) => arrived().has(address)))
            : recipientsOf(kill).filter((address) => arrived().has(address)).length >= (kill * 7) % RECIPIENTS
        for (const until = Date.now() + 60_000; !isEnd() && Date.now() < until; ) await Bun.sleep(5)
        if (kill < KILLS) await server.end("SIGKILL")
        await sending
      }
      expect(acknowledged.has(KILLS)).toBe(true)
      let copies = 0
      for (let report = 0; report <= KILLS; report++) {
        const count = recipientsOf(report).filter((address) => arrived().has(address)).length
        // A request that was killed before its answer has queued all emails or none.
        expect({ report, count }).toEqual({ report, count: acknowledged.has(report) || count > 0 ? RECIPIENTS : 0 })
      }
      for (const [to, all] of Map.groupBy(mails.mails, ({ to }) => to[0]!)) {
        expect({ to, ids: new Set(all.map(({ headers }) => headers.get("message-id"))).size }).toEqual({ to, ids: 1 })
        copies += all.length - 1
      }
      expect(copies).toBeLessThanOrEqual(KILLS * MAX_COPIES)
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
  bySize({ check: 120_000, full: 600_000, release: 1_200_000 }),
)

import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { certificate, startTlsServer, temporaryFolder } from "#plugin/test"

setDefaultTimeout(60_000)

const openssl = Bun.which("openssl")

/** Sends a report in a process that trusts a certificate. Returns what it printed. */
async function send(port: number, trusted: string | undefined): Promise<{ status: number; warnings: string[] }> {
  const command = [process.execPath, join(import.meta.dir, "sender.ts"), String(port), "starttls"]
  const child = Bun.spawn(command, { env: { ...process.env, ...(trusted && { NODE_EXTRA_CA_CERTS: trusted }) }, stderr: "inherit" })
  const output = await new Response(child.stdout).text()
  return JSON.parse(output.trim().split("\n").at(-1) ?? "")
}

test.skipIf(openssl === null)("sends a report over STARTTLS to a slow mail server, once and encrypted", async () => {
  using folder = temporaryFolder()
  const files = await certificate(folder.path)
  using server = await startTlsServer(files, 200)
  expect(await send(server.port, files.cert)).toEqual({ status: 200, warnings: [] })
  expect(server.lines.clear.map((line) => line.split(" ")[0])).toEqual(["EHLO", "STARTTLS"])
  expect(server.lines.encrypted.filter((line) => line === "RCPT TO:<ann@example.org>")).toHaveLength(1)
  expect(server.lines.encrypted).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click")
})

test.skipIf(openssl === null)("sends nothing to a mail server whose certificate is not trusted", async () => {
  using folder = temporaryFolder()
  using server = await startTlsServer(await certificate(folder.path), 0)
  expect(await send(server.port, undefined)).toEqual({ status: 200, warnings: ["email not sent yet; will retry"] })
  expect([...server.lines.clear, ...server.lines.encrypted].join("\n")).not.toContain("ann@example.org")
})

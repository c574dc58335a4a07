/** Sends one report to the mail server on the port in the arguments, and ends. A process of its own, because it trusts other certificates. */
import { startInstance } from "#plugin/test"
import integrations from "../../integrations.ts"

const [port = "", security = ""] = process.argv.slice(2)
const settings = { smtp_host: "localhost", smtp_port: port, smtp_security: security, mail_from: "stats@example.org" }
await using instance = await startInstance({ plugins: [integrations], settings })
const headers = { cookie: await instance.signIn({ role: "owner" }) }
const path = "/api/private/sites/1/reports"
await instance.api.send("POST", path, { kind: "weekly", recipients: ["ann@example.org"] }, undefined, headers)
const { status } = await instance.api.send("POST", `${path}/1/send-now`, undefined, undefined, headers)
await instance.app.instance.accounts.mail.deliver()
const warnings = instance.log.lines.filter(({ level }) => level === "warn").map(({ message }) => message)
console.log(JSON.stringify({ status, warnings }))
process.exit(0)

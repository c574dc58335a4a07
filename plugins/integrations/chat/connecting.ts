import { AppError, type OwnStatements } from "#plugin"
import { type Author, type IntegrationsHost, refuseOffline, refuseScope, refuseUrl, urlLabel } from "../area.ts"
import { integrationError } from "../errors.ts"
import type { Kind, TestReport } from "../kind.ts"
import { PERMISSION, refuseFull, storeWithSecret } from "../lifecycle.ts"
import { noteSuccess } from "../rows.ts"
import { CHAT_EVENTS, CHAT_KINDS, type Chat, type Sending } from "./chat.ts"
import { type ChatKind, type ChatTarget, isChatKind } from "./forms.ts"
import { ConnectInput, readConnect, readPatch } from "./input.ts"

/** The chat services as kinds of integrations. A connection is stored only after a test message succeeded. */
export function chatKindsOf(host: IntegrationsHost, chat: Chat): Kind[] {
  const known = (): string[] => CHAT_EVENTS.filter((event) => Object.hasOwn(host.productEvents(), event))

  async function refuseUntested(target: ChatTarget): Promise<void> {
    refuseOffline(host)
    if (target.kind !== "telegram") refuseUrl(host, target.secret)
    const sent = await chat.test(target)
    if (sent.ok) return
    if (sent.code === "blocked_address") throw new AppError("blocked_address", sent.detail)
    throw integrationError("connection_failed", `The test message was not accepted. ${sent.detail}`, { steps: reportOf(sent).steps })
  }

  const kindOf = ({ kind, name, category, connect_by }: (typeof CHAT_KINDS)[number]): Kind => ({
    ...{ kind, name, category },
    connectBy: () => connect_by,
    connect: {
      summary: `Connect ${name}, after a test message`,
      input: ConnectInput,
      failures: ["connection_failed", "blocked_address", "outbound_disabled", "limit_reached"],
      async run(author: Author, body, alongside) {
        const { secret, name: given, config, scope } = readConnect(body, kind, known())
        await refuseScope(host, author, scope, PERMISSION)
        await refuseUntested({ kind, secret, config })
        const fields = { kind, name: given ?? name, scope, account_label: labelOf(kind, secret), secret, config }
        const check = (statements: OwnStatements) => refuseFull(statements, author.site, scope, isChatKind)
        return { integration: await storeWithSecret(host, author, fields, { check, alongside }) }
      },
    },
    shownConfig: (config) => ({ ...config, events: chat.eventsOf(config) }),
    readPatch: (body, present) => readPatch(body, kind, known(), present.config),
    refuseUntested: (target) => refuseUntested({ kind, ...target }),
    labelOf: (secret) => labelOf(kind, secret),
    async test({ id, config }, secret) {
      const report = reportOf(await chat.test({ kind, secret: secret!, config })) // all chats have one
      if (report.ok) await noteSuccess(host.db, id, host.now())
      return report
    },
  })
  return CHAT_KINDS.map(kindOf)
}

const reportOf = ({ ok, ms, detail }: Sending): TestReport => ({ ok, ms, steps: [{ name: "message", ok, detail }] })

/** Returns what people recognize the target by: the host of a URL, or the number of the bot. */
const labelOf = (kind: ChatKind, secret: string): string => (kind === "telegram" ? `bot ${secret.split(":")[0]}` : urlLabel(secret))

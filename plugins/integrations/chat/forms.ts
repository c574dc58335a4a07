import type { ChatMessage } from "../text.ts"

export const KINDS = ["slack", "discord", "teams", "mattermost", "ntfy", "telegram"] as const
export type ChatKind = (typeof KINDS)[number]
export const isChatKind = (kind: string): kind is ChatKind => (KINDS as readonly string[]).includes(kind)

/** Where a message goes: the secret (a URL, or the token of a bot) and the settings of the kind. */
export interface ChatTarget {
  kind: ChatKind
  secret: string
  config: Readonly<Record<string, unknown>>
}

/** A request to a chat service. */
export interface ChatRequest {
  url: string
  body: object
  byOperator: boolean
}

type Form = (message: ChatMessage) => object

const TELEGRAM = "https://api.telegram.org"

/** Returns the request that sends a message, in the form of the service. */
export function requestOf({ kind, secret, config }: ChatTarget, message: ChatMessage, telegramBase: string | undefined): ChatRequest {
  if (kind === "telegram") {
    const base = (telegramBase ?? TELEGRAM).replace(/\/+$/, "")
    const body = { chat_id: config.chat_id, ...telegram(message) }
    return { url: `${base}/bot${secret}/sendMessage`, body, byOperator: telegramBase !== undefined }
  }
  if (kind === "ntfy") {
    const { server, topic } = ntfyTopic(secret)
    return { url: server, body: { topic, ...ntfy(message) }, byOperator: false }
  }
  return { url: secret, body: FORMS[kind](message), byOperator: false }
}

/** Splits the URL of an ntfy topic: JSON messages are sent to the server, and name the topic. */
export function ntfyTopic(url: string): { server: string; topic: string } {
  const parsed = new URL(url)
  const parts = parsed.pathname.replace(/\/+$/, "").split("/")
  const topic = decodeURIComponent(parts.pop() ?? "")
  parsed.pathname = `${parts.join("/")}/`
  return { server: parsed.href, topic }
}

/** Slack's three special characters: without them no link and no mention can be written. */
const slackText = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Takes the meaning from Markdown's characters. The zero-width space keeps `@all` from being a mention. */
const markdownText = (text: string): string =>
  text
    .replaceAll(/[\\`*_{}[\]()#+\-.!|~>:]/g, (character) => `\\${character}`)
    .replaceAll("@", "@\u200b")
    .replaceAll("<", "&lt;")

/** A list begins on a line of its own. */
const separator = (value: string): string => (value.includes("\n") ? "\n" : " ")

const htmlText = (text: string): string => slackText(text)

/** Slack accepts ten fields per section. */
const SLACK_FIELDS = 10

const slack: Form = ({ title, facts, link }) => {
  const fields = facts.map(({ label, value }) => ({ type: "mrkdwn", text: `*${slackText(label)}*\n${slackText(value)}` }))
  const text = { type: "mrkdwn", text: `*${slackText(title)}*` }
  const further = Array.from({ length: Math.ceil(fields.length / SLACK_FIELDS) }, (_, i) =>
    fields.slice(i * SLACK_FIELDS, (i + 1) * SLACK_FIELDS),
  )
  return {
    // Notifications show this text, the channel shows the blocks.
    text: slackText([title, ...facts.map(({ label, value }) => `${label}: ${value}`)].join(" · ")),
    blocks: [
      { type: "section", text, ...(further[0] && { fields: further[0] }) },
      ...further.slice(1).map((rest) => ({ type: "section", fields: rest })),
      ...(link === undefined ? [] : [{ type: "context", elements: [{ type: "mrkdwn", text: `<${slackText(link)}|Open Footfall>` }] }]),
    ],
    unfurl_links: false,
  }
}

const mattermost: Form = ({ title, facts, link }) => ({
  text: [
    `**${markdownText(title)}**`,
    ...facts.map(({ label, value }) => `${markdownText(label)}:${separator(value)}${markdownText(value)}`),
    ...(link === undefined ? [] : [`[Open Footfall](${link})`]),
  ].join("\n"),
})

const discord: Form = ({ title, facts, link }) => ({
  embeds: [
    {
      title: markdownText(title),
      ...(link !== undefined && { url: link }),
      fields: facts.map(({ label, value }) => ({ name: markdownText(label), value: markdownText(value), inline: true })),
    },
  ],
  allowed_mentions: { parse: [] },
})

/** An adaptive card, as Workflows expect it. Text runs know no Markdown, so nothing needs to be escaped. */
const teams: Form = ({ title, facts, link }) => {
  const run = (text: string, isBold: boolean) => ({ type: "TextRun", text, ...(isBold && { weight: "Bolder" }) })
  const line = (runs: object[], more: object = {}) => ({ type: "RichTextBlock", inlines: runs, ...more })
  const card = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      line([{ ...run(title, true), size: "Medium" }]),
      ...facts.flatMap(({ label, value }) => {
        const [first = "", ...rest] = value.split("\n")
        if (rest.length === 0) return [line([run(`${label}: `, true), run(first, false)], { spacing: "Small" })]
        return [line([run(label, true)]), ...[first, ...rest].map((text) => line([run(text, false)], { spacing: "None" }))]
      }),
    ],
    ...(link !== undefined && { actions: [{ type: "Action.OpenUrl", title: "Open Footfall", url: link }] }),
  }
  return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content: card }] }
}

const ntfy: Form = ({ title, facts, link }) => ({
  title,
  message: facts.map(({ label, value }) => `${label}:${separator(value)}${value}`).join("\n") || title,
  ...(link !== undefined && { click: link }),
})

const telegram: Form = ({ title, facts, link }) => ({
  text: [
    `<b>${htmlText(title)}</b>`,
    ...facts.map(({ label, value }) => `${htmlText(label)}:${separator(value)}${htmlText(value)}`),
    ...(link === undefined ? [] : [htmlText(link)]),
  ].join("\n"),
  parse_mode: "HTML",
  link_preview_options: { is_disabled: true },
})

const FORMS: Readonly<Record<Exclude<ChatKind, "ntfy" | "telegram">, Form>> = { slack, discord, teams, mattermost }

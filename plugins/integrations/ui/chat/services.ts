/** What a user must know to connect a chat service. */
export interface ChatService {
  /** Label of the secret that the service gives. */
  secretLabel: string
  placeholder: string
  /** Where the user finds it. */
  guide: string
}

const WEBHOOK_URL = "Webhook URL"

export const SERVICES: Readonly<Record<string, ChatService>> = {
  slack: {
    secretLabel: WEBHOOK_URL,
    placeholder: "https://hooks.slack.com/services/…",
    guide: "In Slack, create an app with incoming webhooks, add a webhook for the channel, and copy its URL.",
  },
  discord: {
    secretLabel: WEBHOOK_URL,
    placeholder: "https://discord.com/api/webhooks/…",
    guide: "In Discord, open the settings of the channel, choose Integrations and Webhooks, create a webhook, and copy its URL.",
  },
  teams: {
    secretLabel: "Workflows URL",
    placeholder: "https://….logic.azure.com/workflows/…",
    guide:
      "In Teams, open Workflows in the menu of the channel, choose the template that posts when a webhook request is received, and copy the URL at the end.",
  },
  mattermost: {
    secretLabel: WEBHOOK_URL,
    placeholder: "https://chat.example.com/hooks/…",
    guide: "In Mattermost, open Integrations, add an incoming webhook for the channel, and copy its URL.",
  },
  ntfy: {
    secretLabel: "Topic URL",
    placeholder: "https://ntfy.sh/a-name-that-is-hard-to-guess",
    guide: "The address of the topic, on ntfy.sh or a server of your own. Anyone who knows a topic without access control can read it.",
  },
  telegram: {
    secretLabel: "Bot token",
    placeholder: "123456:ABC-DEF…",
    guide: "In Telegram, create a bot with @BotFather and copy its token. Then add the bot to the chat.",
  },
}

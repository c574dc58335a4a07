import { useState } from "preact/hooks"
import {
  Button,
  Checkbox,
  currentVersion,
  Dialog,
  Form,
  patch,
  post,
  QueryResult,
  TextField,
  toast,
  VersionConflict,
  visible,
} from "#plugin/ui"
import type { IntegrationList, IntegrationResponse } from "../../responses.ts"
import { integrationsPath, SCOPE_LABELS, useManagesOrganization, useRefresh } from "../answers.ts"
import { EventChoice } from "../events/event-choice.tsx"
import { type EventFacts, useEvents } from "../events/events.ts"
import { FailedSteps } from "../frame.tsx"
import { SERVICES } from "./services.ts"

type Kind = IntegrationList["available"][number]

interface ChatDialogProps {
  siteId: number
  kind: Kind
  /** Chat to edit. Undefined connects a new one. */
  item?: IntegrationResponse
  onClose(): void
}

/** Dialog that connects a chat service or edits a connected one. The server sends a test message before it stores a URL or token. */
export default function ChatDialog({ siteId, kind, item, onClose }: ChatDialogProps) {
  const events = useEvents()
  return (
    <Dialog title={item ? `Edit ${visible(item.name)}` : `Connect ${kind.name}`} onClose={onClose} wide>
      <QueryResult of={events} rows={5}>
        {(known) => (
          <Editor siteId={siteId} kind={kind} {...(item && { item })} events={known.filter(({ chats }) => chats)} onClose={onClose} />
        )}
      </QueryResult>
    </Dialog>
  )
}

interface Draft {
  name: string
  secret: string
  chatId: string
  scope: IntegrationResponse["scope"]
  events: readonly string[]
}

function Editor({ siteId, kind, item, events, onClose }: ChatDialogProps & { events: readonly EventFacts[] }) {
  const managesOrganization = useManagesOrganization(siteId, "integrations:write")
  const refresh = useRefresh(siteId)
  const [initial] = useState(() => draftOf(item, events))
  const [draft, setDraft] = useState(initial)
  const [theirs, setTheirs] = useState<IntegrationResponse>()
  const set = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes })
  const isTelegram = kind.kind === "telegram"
  const service = SERVICES[kind.kind]
  const secretName = isTelegram ? "api_key" : "url"

  const save = async (version: number | undefined) => {
    const path = integrationsPath(siteId)
    const secret = draft.secret.trim() && { [secretName]: draft.secret.trim() }
    const config = { events: draft.events, ...(isTelegram && { chat_id: draft.chatId.trim() }) }
    const name = draft.name.trim() && { name: draft.name.trim() }
    if (item) await patch(`${path}/${item.id}`, { ...name, ...secret, config, version })
    else await post(`${path}/${kind.kind}/connect`, { ...name, ...secret, config, scope: draft.scope })
    await refresh()
    toast(item ? `${visible(draft.name || item.name)} saved` : `${kind.name} connected`)
    onClose()
  }
  const submit = async () => {
    try {
      await save(item?.version)
    } catch (error) {
      const current = currentVersion<IntegrationResponse>(error)
      if (!current?.version) throw error
      setTheirs(current)
    }
  }
  if (theirs)
    return (
      <VersionConflict
        mine={textsOf(draft, events)}
        theirs={textsOf(draftOf(theirs, events), events)}
        onMine={() => save(theirs.version)}
        onTheirs={async () => {
          await refresh()
          onClose()
        }}
        onClose={() => setTheirs(undefined)}
      />
    )
  return (
    <Form submit={submit} label={kind.name}>
      {({ busy, errorOf, problem }) => (
        <>
          <FailedSteps problem={problem} />
          <TextField
            label={service?.secretLabel ?? "Secret"}
            value={draft.secret}
            onValue={(secret) => set({ secret })}
            error={errorOf(`/${secretName}`)}
            placeholder={service?.placeholder ?? ""}
            note={
              item
                ? `Stored: ${item.account_label}. Leave empty to keep it, or enter a new one. ${service?.guide ?? ""}`
                : (service?.guide ?? "")
            }
            autocomplete="off"
            code
            autofocus
          />
          {isTelegram && (
            <TextField
              label="Chat ID"
              value={draft.chatId}
              onValue={(chatId) => set({ chatId })}
              error={errorOf("/config/chat_id")}
              placeholder="@name or -1001234567890"
              note="The public channel name with @, or the numeric chat ID."
              autocomplete="off"
              code
            />
          )}
          <TextField
            label={item ? "Name" : "Name (optional)"}
            value={draft.name}
            onValue={(name) => set({ name })}
            error={errorOf("/name")}
            placeholder={kind.name}
            maxLength={100}
            note="Helps you recognize the channel, such as #marketing."
          />
          {!item && managesOrganization && (
            <fieldset>
              <legend>Messages about</legend>
              <div class="choice-list">
                {(["site", "organization"] as const).map((scope) => (
                  <Checkbox
                    key={scope}
                    name="scope"
                    label={SCOPE_LABELS[scope]}
                    checked={draft.scope === scope}
                    onChange={() => set({ scope })}
                  />
                ))}
              </div>
            </fieldset>
          )}
          <EventChoice events={events} chosen={draft.events} onChosen={(chosen) => set({ events: chosen })} />
          {draft.events.length === 0 && (
            <p class="small quiet">With no events selected, this chat receives only the alerts that are sent to it.</p>
          )}
          <div class="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit" busy={busy}>
              {item ? "Save changes" : `Connect ${kind.name}`}
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

const draftOf = (item: IntegrationResponse | undefined, events: readonly EventFacts[]): Draft => ({
  name: item?.name ?? "",
  secret: "",
  chatId: typeof item?.config.chat_id === "string" ? item.config.chat_id : "",
  scope: item?.scope ?? "site",
  events: item ? (item.config.events as string[]) : events.filter((one) => !one.only_by_name).map(({ event }) => event), // always present
})

const textsOf = (draft: Draft, events: readonly EventFacts[]) =>
  [
    ["Name", draft.name],
    ["Secret", draft.secret === "" ? "Unchanged" : "New secret"],
    ["Chat ID", draft.chatId],
    ["Events", draft.events.map((event) => events.find((one) => one.event === event)?.title ?? event).join(", ")],
  ] as const

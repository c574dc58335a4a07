/** Actions, sections and labels of the console. */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button, Confirm, CopyButton, Dialog, errorText, shellQuoted, toast } from "#plugin/ui"
import type { SystemResponse } from "../operation-responses.ts"
import { useAdmin } from "./queries.ts"

/** Runs the action of a button, one at a time, and shows a toast when it succeeded or failed. */
export function useAction(): [busy: boolean, act: (work: () => Promise<unknown>, done: string) => Promise<void>] {
  const [busy, setBusy] = useState(false)
  return [
    busy,
    async (work, done) => {
      setBusy(true)
      try {
        await work()
        toast(done)
      } catch (error) {
        toast(errorText(error as Error))
      } finally {
        setBusy(false)
      }
    },
  ]
}

interface AskedActProps {
  label: string
  /** Name of the row, for assistive technology: buttons of several rows have the same label. */
  about?: string
  title: string
  act: string
  /** Text that the user must type to confirm. */
  name?: string
  children: ComponentChildren
  onConfirm(): Promise<unknown>
  kind?: "plain" | "danger"
}

/** A button that asks for confirmation before it acts. */
export function ConfirmedAction({ label, about, title, act, name, children, onConfirm, kind = "danger" }: AskedActProps) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button kind={kind} aria-label={about === undefined ? undefined : `${label}: ${about}`} onClick={() => setAsking(true)}>
        {label}
      </Button>
      {isAsking && (
        <Confirm title={title} act={act} {...(name !== undefined && { name })} onConfirm={onConfirm} onClose={() => setAsking(false)}>
          {children}
        </Confirm>
      )}
    </>
  )
}

/** A dialog with a secret link that is shown only once. */
export const SecretLinkDialog = ({
  title,
  link,
  children,
  onClose,
}: {
  title: string
  link: string
  children: ComponentChildren
  onClose(): void
}) => (
  <Dialog title={title} onClose={onClose} small>
    <div class="stack">
      {children}
      <input class="input" data-code readOnly aria-label="Link" value={link} onFocus={(event) => event.currentTarget.select()} />
      <div class="dialog-foot">
        <CopyButton text={link} />
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  </Dialog>
)

/** A section of a page with its own heading. */
export const Part = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="card stack">
    <h2>{title}</h2>
    {children}
  </section>
)

export const withAny = (values: readonly string[], any = "Any"): { value: string; label: string }[] => [
  { value: "", label: any },
  ...values.map((value) => ({ value, label: sentenceCase(value) })),
]

const ABBREVIATIONS = /\b(api|cors|gpc|hsts|http|id|mcp|oidc|s3|smtp|sso|tls|url|wal)\b/g

/** Turns a code into words: `read_only` becomes Read only, `base_url` becomes Base URL. */
export const sentenceCase = (code: string): string => {
  const words = code.replaceAll(/[_-]/g, " ").replace(ABBREVIATIONS, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Roles in an organization, highest first. */
export const ROLES = ["owner", "admin", "editor", "viewer", "guest"] as const

/** Returns a function that adds the data folder to a command. Without it, the command would only work in the folder of the server process. */
export function useFullCommand(): (command: string) => string {
  const { data } = useAdmin<SystemResponse>("system")
  return (command) => (data ? `${command} --data-dir ${shellQuoted(data.data_dir)}` : command)
}

/** The commands that instructions of the server name. */
const COMMAND = /(footfall (?:backup (?:create|list|restore <id>)|user reset-mfa))/

/** Renders an instruction of the server. Its commands include the data folder. */
export function Instruction({ text }: { text: string }) {
  const fullCommand = useFullCommand()
  // A pattern with a group makes every other part a command.
  return <>{text.split(COMMAND).map((part, at) => (at % 2 === 0 ? part : <code key={at}>{fullCommand(part)}</code>))}</>
}

import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { Button, Confirm, CopyButton, Dialog, sentenceOf, toast } from "#plugin/ui"

/** Runs a small act of a button: once at a time, with a word when it is done or refused. */
export function useAct(): [busy: boolean, act: (work: () => Promise<unknown>, done: string) => Promise<void>] {
  const [busy, setBusy] = useState(false)
  return [
    busy,
    async (work, done) => {
      setBusy(true)
      try {
        await work()
        toast(done)
      } catch (error) {
        toast(sentenceOf(error as Error))
      } finally {
        setBusy(false)
      }
    },
  ]
}

interface AskedActProps {
  /** What the button says. */
  label: string
  /** For assistive technology, where buttons of several rows say the same. */
  about?: string
  title: string
  act: string
  /** To be typed. */
  name?: string
  children: ComponentChildren
  onConfirm(): Promise<unknown>
  kind?: "plain" | "danger"
}

/** A button that asks before it does something. */
export function AskedAct({ label, about, title, act, name, children, onConfirm, kind = "danger" }: AskedActProps) {
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

/** A secret link, shown this once. */
export const LinkShown = ({
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

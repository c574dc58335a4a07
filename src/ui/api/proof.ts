import { createStore } from "../browser/store.ts"

/** A request to confirm the user's identity in a dialog: the session has ended, the action needs a recent confirmation, or the organization requires its identity provider. */
export interface Asked {
  reason: "signed-out" | "proof" | "provider"
  done(): void
  cancel(): void
}

/** Thrown when the user cancels the dialog. */
export class Cancelled extends Error {}

/** The open request, shown by `shell/proof-dialog.tsx`. */
export const asked = createStore<Asked | undefined>(undefined)

let waiting: Promise<void> | undefined

/** Resolves when the user has signed in again. Concurrent requests share one dialog. */
export const askForSignIn = (): Promise<void> => ask("signed-out")
/** Resolves when the user has confirmed their identity. Rejects with `Cancelled` if they cancel. */
export const askForProof = (): Promise<void> => ask("proof")
/** Resolves when the user has signed in through an identity provider. Rejects with `Cancelled` if they cancel. */
export const askForProvider = (): Promise<void> => ask("provider")

function ask(reason: Asked["reason"]): Promise<void> {
  waiting ??= new Promise<void>((resolve, reject) => {
    asked.set({
      reason,
      done: resolve,
      cancel: () => reject(new Cancelled("Nothing was changed, because you did not confirm your identity.")),
    })
  }).finally(() => {
    waiting = undefined
    asked.set(undefined)
  })
  return waiting
}

import { createStore } from "./store.ts"

/** Why somebody is asked who they are, over the page: the session has ended, the act needs a fresh proof, or their organization wants another way in. */
export interface Asked {
  reason: "signed-out" | "proof" | "provider"
  done(): void
  cancel(): void
}

/** Whoever was asked would rather not. */
export class Cancelled extends Error {}

/** What the dialog of `shell/proof-dialog.tsx` shows. */
export const asked = createStore<Asked | undefined>(undefined)

let waiting: Promise<void> | undefined

/** Resolves when somebody has signed in again. However many requests wait, they are asked once. */
export const askForSignIn = (): Promise<void> => ask("signed-out")
/** Resolves when who it is has been proved again; rejects with `Cancelled` when they would rather not. */
export const askForProof = (): Promise<void> => ask("proof")
/** Resolves when somebody has come by an identity provider, as their organization wants it; rejects as `askForProof` does. */
export const askForProvider = (): Promise<void> => ask("provider")

function ask(reason: Asked["reason"]): Promise<void> {
  waiting ??= new Promise<void>((resolve, reject) => {
    asked.set({ reason, done: resolve, cancel: () => reject(new Cancelled("Not done: it was not confirmed that it is you.")) })
  }).finally(() => {
    waiting = undefined
    asked.set(undefined)
  })
  return waiting
}

import { patch } from "../../api.ts"
import type { Me } from "../../boot.ts"
import { useRefreshMe } from "../../me.ts"

type User = Me["user"]
export type ProfileChanges = Partial<Pick<User, "name" | "locale" | "time_format" | "theme" | "shortcuts" | "start_page">>

/** Saves changes of the own account on top of the version they were made from; a newer one elsewhere is refused. */
export function useSaveProfile({ user }: Me): (changes: ProfileChanges) => Promise<void> {
  const refresh = useRefreshMe()
  return async (changes) => {
    await patch("/api/private/me", { ...changes, version: user.version })
    await refresh()
  }
}

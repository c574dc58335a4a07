/** The plugins of this program, in the order in which they are set up. Deleting one is deleting its folder and its lines here. */
import type { AnyPlugin } from "#plugin"
import admin from "./admin/admin.ts"

export const plugins: readonly AnyPlugin[] = [admin]

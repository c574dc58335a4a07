/** What a plugin's tests of its pages are made of: `#plugin/test/browser`. */
export { tabTo } from "./access-stand.ts"
export { noBrowser, openBrowser } from "./browser.ts"
export { HOSTILE } from "./dashboard-data.ts"
export { openDashboard, settled } from "./dashboard-stand.ts"
export { pluginScreens } from "./plugin-screens.ts"

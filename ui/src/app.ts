import { mount } from 'svelte';
import './design/tokens.css';
import './design/base.css';
import App, { loadPage } from './App.svelte';
import { startLive } from './api/live.svelte';
import { startClock } from './lib/clock.svelte';
import { startRouter } from './lib/router.svelte';
import { startSession } from './lib/session.svelte';
import { applySettings } from './lib/settings.svelte';
import { showHidden } from './lib/visible';
import { loadText } from './text';

applySettings();
showHidden();
const text = loadText();
startRouter();
startClock();
startLive();
void startSession();
// The page loads beside the words; it is shown, or its error, when there is a place for it.
loadPage()?.catch(() => undefined);
await text;
mount(App, { target: document.getElementById('app')! });

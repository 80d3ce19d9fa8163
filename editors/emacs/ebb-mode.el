;;; ebb-mode.el --- Workflows of Ebb -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages, tools

;;; Commentary:

;; A mode for workflows in YAML that starts `ebb lsp` by eglot (built into Emacs 29) or by lsp-mode:
;;
;;   (require 'ebb-mode)
;;   (add-hook 'ebb-mode-hook #'eglot-ensure)

;;; Code:

(require 'eglot nil t)

(declare-function eglot-current-server "eglot")
(declare-function jsonrpc-request "jsonrpc")
(declare-function lsp-register-client "lsp-mode")
(declare-function make-lsp-client "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(declare-function lsp-activate-on "lsp-mode")
(defvar eglot-server-programs)
(defvar lsp-language-id-configuration)

(defgroup ebb nil
  "Workflows of Ebb."
  :group 'languages)

(defcustom ebb-command "ebb"
  "The command `ebb': a name on your PATH, or a path."
  :type 'string
  :risky t)

(eval-and-compile
  (defconst ebb-mode--parent
    (if (require 'yaml-mode nil t) 'yaml-mode 'prog-mode)
    "What the mode is derived from."))

;; Whether `yaml-mode' exists is known only when the file is read.
(defmacro ebb-mode--define ()
  "Define the mode with its parent."
  `(define-derived-mode ebb-mode ,ebb-mode--parent "Ebb"
     "A mode for workflows of Ebb in YAML."
     (setq-local comment-start "# ")
     (setq-local comment-start-skip "#+ *")
     (setq-local indent-tabs-mode nil)
     (setq-local tab-width 2)))

;;;###autoload (autoload 'ebb-mode "ebb-mode" nil t)
(ebb-mode--define)

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.ebb\\.ya?ml\\'" . ebb-mode))
;;;###autoload
(add-to-list 'magic-mode-alist '("\\(?:#.*\n\\|\n\\)*workflow:[ \t]" . ebb-mode))

(defun ebb-mode--contact (&rest _)
  "The command that serves the mode."
  (list ebb-command "lsp"))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(ebb-mode . ebb-mode--contact)))

(with-eval-after-load 'lsp-mode
  (add-to-list 'lsp-language-id-configuration '(ebb-mode . "ebb"))
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection #'ebb-mode--contact)
                    :activation-fn (lsp-activate-on "ebb")
                    :server-id 'ebb)))

(defun ebb-mode--picture (format)
  "Ask the server for the picture of this buffer in FORMAT."
  (let ((server (and (fboundp 'eglot-current-server) (eglot-current-server))))
    (unless server (user-error "No server: start it with M-x eglot"))
    (jsonrpc-request
     server :ebb/diagram
     (list :textDocument (list :uri (plist-get (eglot--TextDocumentIdentifier) :uri))
           :format format))))

;;;###autoload
(defun ebb-diagram ()
  "Show the picture of the workflow in this buffer: SVG, or text in a terminal."
  (interactive)
  (let* ((is-svg (and (display-graphic-p) (image-type-available-p 'svg)))
         (picture (ebb-mode--picture (if is-svg "svg" "text"))))
    (with-current-buffer (get-buffer-create "*Ebb diagram*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (if is-svg
            (insert-image (create-image (plist-get picture :svg) 'svg t))
          (insert (plist-get picture :text)))
        (goto-char (point-min)))
      (special-mode)
      (display-buffer (current-buffer)))))

(provide 'ebb-mode)
;;; ebb-mode.el ends here
